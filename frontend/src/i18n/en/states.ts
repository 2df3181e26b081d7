/** States of views, chats and agents. */
export const states = {
  slow: "This takes longer than usual.",
  notFound: "This no longer exists.",
  failed: "This could not be read",
  stillWorks: "The rest of Berth is not affected.",
} as const;
