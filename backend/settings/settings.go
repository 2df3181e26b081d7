// Package settings keeps what the user has set, and the saved phrases.
//
// A change is validated whole and stored in one transaction with the event
// that tells of it; a change with one wrong field changes nothing. What is
// stored but no longer valid (of another version, say) falls back to its
// default and is left in the database.
package settings

import "berth/backend/provider"

// Settings is everything that can be set. Each top-level field is stored
// under its own key.
type Settings struct {
	Language           string                   `json:"language" enum:"auto,en,zh-CN"`
	Theme              string                   `json:"theme" enum:"system,light,dark"`
	Contrast           string                   `json:"contrast" enum:"system,normal,more"`
	Density            string                   `json:"density" enum:"auto,regular,compact,touch"`
	TextSize           float64                  `json:"text_size" minimum:"87.5" maximum:"150" doc:"Percent."`
	LetterKeys         bool                     `json:"letter_keys" doc:"Single letters answer a request that has the focus."`
	DefaultAgent       string                   `json:"default_agent" maxLength:"64" doc:"For new chats; empty: the one used last."`
	DefaultPermissions provider.Permission      `json:"default_permissions" enum:"ask,accept-edits,plan,full"`
	Notify             string                   `json:"notify" enum:"off,needs_you,all" doc:"all also tells of turns that ended."`
	NotifyText         bool                     `json:"notify_text" doc:"Show what is asked or answered in a notification."`
	GPU                bool                     `json:"gpu" doc:"Let the window draw with the graphics card; from the next start."`
	KeepRaw            bool                     `json:"keep_raw" doc:"Keep the agents' protocol lines for the debug view."`
	IdleMinutes        int                      `json:"idle_minutes" minimum:"1" maximum:"1440" doc:"How long an idle agent process is kept."`
	Onboarded          bool                     `json:"onboarded" doc:"The first start was worked through."`
	Agents             map[string]AgentSettings `json:"agents" doc:"By name of the agent."`
}

// AgentSettings is what the user set for one agent.
type AgentSettings struct {
	Executable  string              `json:"executable,omitempty" maxLength:"4096" doc:"Absolute path; without it, the agent is looked for."`
	Env         []string            `json:"env,omitempty" maxItems:"64" doc:"NAME=value, added to its environment."`
	Model       string              `json:"model,omitempty" maxLength:"240"`
	Effort      string              `json:"effort,omitempty" maxLength:"64"`
	Permissions provider.Permission `json:"permissions,omitempty" enum:"ask,accept-edits,plan,full"`
	Hidden      bool                `json:"hidden,omitempty" doc:"Not offered for new chats."`
}

// Change of the settings; absent fields stay. Agents replaces the settings of
// each agent named; empty ones take them away.
type Change struct {
	Language           *string                  `json:"language,omitempty" enum:"auto,en,zh-CN"`
	Theme              *string                  `json:"theme,omitempty" enum:"system,light,dark"`
	Contrast           *string                  `json:"contrast,omitempty" enum:"system,normal,more"`
	Density            *string                  `json:"density,omitempty" enum:"auto,regular,compact,touch"`
	TextSize           *float64                 `json:"text_size,omitempty" minimum:"87.5" maximum:"150"`
	LetterKeys         *bool                    `json:"letter_keys,omitempty"`
	DefaultAgent       *string                  `json:"default_agent,omitempty" maxLength:"64"`
	DefaultPermissions *provider.Permission     `json:"default_permissions,omitempty" enum:"ask,accept-edits,plan,full"`
	Notify             *string                  `json:"notify,omitempty" enum:"off,needs_you,all"`
	NotifyText         *bool                    `json:"notify_text,omitempty"`
	GPU                *bool                    `json:"gpu,omitempty"`
	KeepRaw            *bool                    `json:"keep_raw,omitempty"`
	IdleMinutes        *int                     `json:"idle_minutes,omitempty" minimum:"1" maximum:"1440"`
	Onboarded          *bool                    `json:"onboarded,omitempty"`
	Agents             map[string]AgentSettings `json:"agents,omitempty" doc:"Replaces the settings of each agent named; {} takes them away."`
}

// Defaults are the settings of a new user.
func Defaults() Settings {
	return Settings{
		Language: "auto", Theme: "system", Contrast: "system", Density: "auto",
		TextSize: 100, LetterKeys: true, DefaultPermissions: provider.Ask,
		Notify: "all", NotifyText: true, IdleMinutes: 15,
		Agents: map[string]AgentSettings{},
	}
}
