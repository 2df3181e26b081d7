package artifact

import "berth/backend/event"

// Upload is a file on its way to Berth.
type Upload struct {
	event.File
	Received int64 `json:"received" doc:"Bytes so far; the next piece begins here."`
	Complete bool  `json:"complete"`
}

// NewUpload announces a file.
type NewUpload struct {
	Name string `json:"name" minLength:"1" maxLength:"255" doc:"File name, without a path."`
	Size int64  `json:"size" minimum:"0" maximum:"268435456" doc:"Bytes."`
	Type string `json:"type,omitempty" maxLength:"255" doc:"Media type; without it, told by the name."`
}
