export const links = {
  title: "Open this link?",
  leaves: "It was written by an agent or a file, and opens outside Berth.",
  notOpenable: "This address cannot be opened",
  copy: "Copy address",
  open: "Open {{host}}",
} as const;
