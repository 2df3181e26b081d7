import type { Words } from "../catalogue";
import type { common as en } from "../en/common";

export const common: Words<typeof en> = {
  cancel: "取消",
  close: "关闭",
  dismiss: "关闭提示",
  busy: "正在处理",
  tryAgain: "重试",
  copy: "复制",
  copied: "已复制",
  copyFailed: "剪贴板没有接收。",
  open: "打开",
  remove: "移除",
  undo: "撤销",
  unknown: "未知",
  more: "更多",
  more_count_one: "另外 {{count}} 项",
  more_count_other: "另外 {{count}} 项",
};
