package workspace

// Folder is a directory that completes what the user types.
type Folder struct {
	Path string `json:"path" doc:"Absolute."`
	// PathRaw is set where the path is not UTF-8.
	PathRaw []byte `json:"path_raw,omitempty" doc:"The bytes of the path, where it is not UTF-8; base64."`
	Name    string `json:"name"`
	Repo    bool   `json:"repo,omitempty" doc:"A git repository."`
}

// Folders is a list of completions.
type Folders struct {
	Folders   []Folder `json:"folders"`
	Exists    bool     `json:"exists" doc:"What was typed is itself a folder."`
	Path      string   `json:"path" doc:"What was typed, made absolute."`
	Truncated bool     `json:"truncated,omitempty" doc:"There are more."`
}

// File is a file or folder of a workspace.
type File struct {
	Path    string `json:"path" doc:"Relative to the workspace, with slashes."`
	PathRaw []byte `json:"path_raw,omitempty" doc:"The bytes of the path, where it is not UTF-8; base64."`
	Dir     bool   `json:"dir,omitempty"`
}

// Found is what a search for files gives, best match first.
type Found struct {
	Files     []File `json:"files"`
	Truncated bool   `json:"truncated,omitempty" doc:"The workspace is larger than what was looked at."`
}

func CompleteFolder(prefix string, limit int, hidden bool) (Folders, error) { panic(1) }
func CreateFolder(path string) (Folder, error)                              { panic(1) }
