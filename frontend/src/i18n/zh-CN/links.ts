import type { Words } from "../catalogue";
import type { links as en } from "../en/links";

export const links: Words<typeof en> = {
  title: "打开此链接？",
  leaves: "它由智能体或文件写成，将在 Berth 之外打开。",
  notOpenable: "无法打开此地址",
  copy: "复制地址",
  open: "打开 {{host}}",
};
