package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
)

// route is one operation as it is declared in the files of its resource.
type route struct {
	method, path string
	id           string // operation id: the name of the call in clients
	tag          string
	summary      string
	about        string
	access       access
	// begins marks operations that begin something new: they are refused
	// while admission is closed.
	begins bool
	status int // of success, where it is not the method's usual one
	// takes and gives are the media types of bodies that are not JSON.
	takes, gives string
}

// add registers an operation. A route without a declaration of access, or
// with one that contradicts its method, stops the program when it starts.
func add[I, O any](s *Handler, r route, handle func(context.Context, *I) (*O, error)) {
	if !r.access.declared() {
		panic("operation " + r.id + " does not declare who may call it")
	}
	if _, ok := s.declared[r.id]; ok {
		panic("two operations are called " + r.id)
	}
	s.declared[r.id] = r
	op := huma.Operation{
		OperationID: r.id,
		Method:      r.method,
		Path:        prefix + r.path,
		Summary:     r.summary,
		Description: r.about,
		Tags:        []string{r.tag},
		// Huma refuses a body that reaches the limit.
		MaxBodyBytes: r.access.body + 1,
		// Its default sets a deadline on the connection that outlives the
		// body and would cancel the request five seconds later.
		BodyReadTimeout: -1,
		DefaultStatus:   r.status,
		Middlewares:     huma.Middlewares{r.access.guard},
	}
	binary := map[string]*huma.MediaType{r.takes + r.gives: {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}}
	if r.takes != "" {
		op.RequestBody = &huma.RequestBody{Required: true, Content: binary}
	}
	if r.gives != "" {
		op.Responses = map[string]*huma.Response{"200": {Description: "OK", Content: binary}}
	}
	huma.Register(s.operations, op, func(ctx context.Context, in *I) (*O, error) {
		if r.begins {
			if a := s.features.Backend.Health().Admission; a.State == "closed" {
				return nil, problem(http.StatusServiceUnavailable, "admission_closed", a.Detail)
			}
		}
		out, err := handle(ctx, in)
		if err != nil {
			return nil, s.explain(ctx, r, err)
		}
		return out, nil
	})
}

// explain turns an error into a problem, logging what was not foreseen.
func (s *Handler) explain(ctx context.Context, r route, err error) error {
	p, known := problemOf(err)
	if !known && ctx.Err() == nil {
		s.log.Error("operation failed", "operation", r.id, "error", err)
	}
	return p
}

// Shapes shared by the resources.

// none is the output of operations that answer 204.
type none struct{}

type body[T any] struct{ Body T }

func reply[T any](v T, err error) (*body[T], error) {
	if err != nil {
		return nil, err
	}
	return &body[T]{v}, nil
}

// present makes an absent list an empty one, as clients are promised.
func present[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// ByID is the input of operations on one thing. It is exported because Huma
// looks only into exported fields.
type ByID struct {
	ID string `path:"id" maxLength:"64"`
}

// noContent is the status of operations that have nothing to say.
const noContent = http.StatusNoContent
