import type { Words } from "../catalogue";
import type { palette as en } from "../en/palette";

export const palette: Words<typeof en> = {
  label: "命令面板",
  placeholder: "查找会话或命令",
  recent: "最近使用",
  chats: "转到会话",
  agents: "新建会话，使用",
  settings: "设置",
  archived: "已归档",
  none: "没有名为“{{query}}”的内容。",
  choose: "选择",
  run: "执行",
  close: "关闭",
};
