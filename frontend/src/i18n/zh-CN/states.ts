import type { Words } from "../catalogue";
import type { states as en } from "../en/states";

export const states: Words<typeof en> = {
  slow: "比平时用时更长。",
  notFound: "它已不存在。",
  failed: "无法读取",
  stillWorks: "Berth 的其他部分不受影响。",
  chat: {
    working: "工作中",
    starting: "正在启动",
    stopping: "正在停止",
    approval: "等待批准",
    question: "等待回答",
    failed: "失败",
    stopped: "你已停止",
    interrupted: "已中断",
    uncertain: "是否送达未知",
    fenced: "停止未确认",
    dead: "智能体已不在",
    finished: "已完成",
    idle: "空闲",
    offline: "状态未知",
    unread: "尚未查看",
    queued_one: "{{count}} 条排队",
    queued_other: "{{count}} 条排队",
    held_one: "{{count}} 条暂停",
    held_other: "{{count}} 条暂停",
  },
};
