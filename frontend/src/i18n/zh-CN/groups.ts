import type { Words } from "../catalogue";
import type { groups as en } from "../en/groups";

export const groups: Words<typeof en> = {
  general: "通用",
  chats: "会话",
  conversation: "对话",
  request: "请求",
  view: "视图",
};
