/** Headings of the palette and the shortcuts page. */
export const groups = {
  general: "General",
  chats: "Chats",
  conversation: "Conversation",
  request: "Requests",
  view: "View",
} as const;
