package api

import (
	"bytes"
	"context"
	"image"
	"image/png"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"berth/backend/artifact"
)

func TestUploads(t *testing.T) {
	w := newWorld(t)
	u := decoded[artifact.Upload](w.call("POST", "/api/v1/uploads", `{"name":"a/b/notes.txt","size":6,"type":""}`).want(201))
	if u.Name != "notes.txt" || u.Type != "text/plain" || u.Complete {
		t.Errorf("%+v", u)
	}
	at := "/api/v1/uploads/" + u.ID
	w.call("PUT", at+"?offset=0", []byte("abc")).want(200)
	w.call("GET", "/api/v1/files/"+u.ID, nil).problem(404, "not_found")
	w.call("PUT", at+"?offset=0", []byte("abc")).problem(409, "conflict", "query.offset")
	w.call("PUT", at, []byte("abc")).problem(422, "invalid", "query.offset")
	w.call("PUT", at+"?offset=3", []byte("defg")).problem(413, "too_large")
	if u = decoded[artifact.Upload](w.call("GET", at, nil).want(200)); u.Received != 3 {
		t.Errorf("%+v", u)
	}
	if u = decoded[artifact.Upload](w.call("PUT", at+"?offset=3", []byte("def")).want(200)); !u.Complete {
		t.Errorf("%+v", u)
	}
	w.call("PUT", "/api/v1/uploads/file_none?offset=0", []byte("x")).problem(404, "not_found")
	w.call("POST", "/api/v1/uploads", `{"name":"big","size":268435457}`).problem(422, "invalid", "body.size")

	large := decoded[artifact.Upload](w.call("POST", "/api/v1/uploads", `{"name":"large","size":100000000}`).want(201))
	w.call("PUT", "/api/v1/uploads/"+large.ID+"?offset=0", make([]byte, chunkBody+1)).problem(413, "too_large")
	if large = decoded[artifact.Upload](w.call("PUT", "/api/v1/uploads/"+large.ID+"?offset="+strconv.FormatInt(large.Received, 10), make([]byte, chunkBody)).want(200)); large.Received != chunkBody {
		t.Errorf("%+v", large)
	}
}

func TestFilesCannotAct(t *testing.T) {
	w := newWorld(t)
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 2, 3))); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, kind, served, disposition string }{
		{"a.png", "image/png", "image/png", "inline; filename=a.png"},
		{"日本 \".png", "image/png", "image/png", `inline; filename*=utf-8''%E6%97%A5%E6%9C%AC%20%22.png`},
		{"a.svg", "image/svg+xml", "application/octet-stream", "attachment; filename=a.svg"},
		{"a.html", "text/html", "text/plain; charset=utf-8", "attachment; filename=a.html"},
		{"a.xhtml", "application/xhtml+xml", "application/octet-stream", "attachment; filename=a.xhtml"},
		{"a.js", "text/javascript", "text/plain; charset=utf-8", "attachment; filename=a.js"},
		{"a.pdf", "application/pdf", "application/pdf", "attachment; filename=a.pdf"},
		{"a.mp4", "video/mp4", "video/mp4", "attachment; filename=a.mp4"},
		{"a", "multipart/related", "application/octet-stream", "attachment; filename=a"},
	} {
		f, err := w.features.Files.Put(context.Background(), "", "output", c.name, c.kind, bytes.NewReader(picture.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		a := w.call("GET", "/api/v1/files/"+f.ID, nil).want(200)
		h := a.header
		if h.Get("Content-Type") != c.served || h.Get("Content-Disposition") != c.disposition || !bytes.Equal(a.body, picture.Bytes()) {
			t.Errorf("%s comes as %v", c.name, h)
		}
		if h.Get("X-Content-Type-Options") != "nosniff" || !strings.HasPrefix(h.Get("Content-Security-Policy"), "sandbox;") {
			t.Errorf("%s is not confined: %v", c.name, h)
		}
	}
}

func TestRanges(t *testing.T) {
	w := newWorld(t)
	f, err := w.features.Files.Put(context.Background(), "", "output", "a.bin", "", strings.NewReader("0123456789"))
	if err != nil {
		t.Fatal(err)
	}
	get := func(header, value string) answered {
		req := httptest.NewRequest("GET", "/api/v1/files/"+f.ID, nil)
		req.Header.Set(header, value)
		return w.ask(w.Window(), req)
	}
	for value, want := range map[string]string{"bytes=2-4": "234", "bytes=7-": "789", "bytes=-2": "89", "bytes=5-100": "56789"} {
		if a := get("Range", value).want(206); string(a.body) != want {
			t.Errorf("%s: %q", value, a.body)
		}
	}
	get("Range", "bytes=10-").problem(416, "bad_range")
	get("If-None-Match", `"`+f.ID+`"`).want(304)
	if a := w.ask(w.Window(), httptest.NewRequest("HEAD", "/api/v1/files/"+f.ID, nil)).want(200); a.header.Get("Content-Length") != "10" {
		t.Errorf("%v", a.header)
	}
}

func FuzzRange(f *testing.F) {
	w := newWorld(f)
	const text = "0123456789"
	file, err := w.features.Files.Put(context.Background(), "", "output", "a.bin", "", strings.NewReader(text))
	if err != nil {
		f.Fatal(err)
	}
	for _, r := range []string{"", "bytes=0-0", "bytes=9-1", "bytes=-", "bytes=0-1,3-4", "items=1-2", "bytes=99999999999999999999-", "bytes= 1 - 2 "} {
		f.Add(r)
	}
	f.Fuzz(func(t *testing.T, value string) {
		req := httptest.NewRequest("GET", "/api/v1/files/"+file.ID, nil)
		req.Header.Set("Range", value)
		rec := httptest.NewRecorder()
		w.Window().ServeHTTP(rec, req)
		single := !strings.Contains(value, ",")
		switch rec.Code {
		case 200, 206:
			if single && !strings.Contains(text, rec.Body.String()) {
				t.Errorf("%q: %q", value, rec.Body)
			}
		case 416:
		default:
			t.Errorf("%q: %d", value, rec.Code)
		}
	})
}
