export const palette = {
  label: "Command palette",
  placeholder: "Find a chat or a command",
  recent: "Recent",
  chats: "Go to chat",
  agents: "New chat with",
  settings: "Settings",
  archived: "Archived",
  none: "Nothing is called “{{query}}”.",
  choose: "choose",
  run: "run",
  close: "close",
} as const;
