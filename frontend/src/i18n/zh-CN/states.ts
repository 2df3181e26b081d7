import type { Words } from "../catalogue";
import type { states as en } from "../en/states";

export const states: Words<typeof en> = {
  slow: "比平时用时更长。",
  notFound: "它已不存在。",
  failed: "无法读取",
  stillWorks: "Berth 的其他部分不受影响。",
};
