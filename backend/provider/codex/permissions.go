package codex

import (
	"bytes"
	"encoding/json"

	"berth/backend/provider"
)

// reviewer routes every request for approval to the user, whatever reviewer
// the configuration names.
const reviewer = "user"

// modePlan and modeDefault are Codex's collaboration modes.
const (
	modePlan    = "plan"
	modeDefault = "default"
)

// permissions are what a permission mode means for Codex.
type permissions struct {
	mode     provider.Permission
	approval string // approvalPolicy
	sandbox  string // of thread/start
	policy   string // the type of sandboxPolicy of turn/start
}

// table is the one of the permission modes.
var table = []permissions{
	{provider.Ask, "untrusted", "workspace-write", "workspaceWrite"},
	{provider.AcceptEdits, "on-request", "workspace-write", "workspaceWrite"},
	{provider.PlanOnly, "on-request", "read-only", "readOnly"},
	{provider.Full, "never", "danger-full-access", "dangerFullAccess"},
}

// permissionsOf gives the row of a mode; none is never approximated.
func permissionsOf(mode provider.Permission) (permissions, error) {
	for _, row := range table {
		if row.mode == mode {
			return row, nil
		}
	}
	return permissions{}, &provider.Error{Code: "mode_unsupported", Text: "Codex has no permission mode of this name.", Detail: string(mode)}
}

// modes are the permission modes that Codex honours.
func modes() []provider.Permission {
	list := make([]provider.Permission, len(table))
	for i, row := range table {
		list[i] = row.mode
	}
	return list
}

// check refuses a thread that came back with other permissions: an
// administrator's requirements may replace what was asked for.
func (p permissions) check(got opened) error {
	want, _ := json.Marshal(p.approval)
	if bytes.Equal(bytes.TrimSpace(got.Approval), want) && got.Sandbox.Type == p.policy && got.Reviewer == reviewer {
		return nil
	}
	return &provider.Error{
		Code: "mode_unsupported", Text: "Codex did not take on the permission mode of this chat; a rule of its configuration forbids it. Nothing was sent.",
		Detail: clip("approvalPolicy "+string(got.Approval)+", sandbox "+got.Sandbox.Type+", approvalsReviewer "+got.Reviewer, maxText),
	}
}

// sandboxPolicy is the sandbox of one turn. The one that may write to the
// folder is as the user configured it.
func (p permissions) sandboxPolicy(writing workspaceWrite) any {
	switch p.policy {
	case "workspaceWrite":
		roots := writing.Roots
		if roots == nil {
			roots = []string{}
		}
		return map[string]any{
			"type": p.policy, "writableRoots": roots, "networkAccess": writing.Network,
			"excludeTmpdirEnvVar": writing.ExcludeTemp, "excludeSlashTmp": writing.ExcludeTmp,
		}
	case "readOnly":
		return map[string]any{"type": p.policy, "networkAccess": false}
	}
	return map[string]any{"type": p.policy}
}
