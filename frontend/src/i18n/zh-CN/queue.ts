import type { Words } from "../catalogue";
import type { queue as en } from "../en/queue";

export const queue: Words<typeof en> = {
  label_one: "队列，{{count}} 条消息",
  label_other: "队列，{{count}} 条消息",
  queued_one: "{{count}} 条排队",
  queued_other: "{{count}} 条排队",
  held_one: "{{count}} 条消息暂停，{{why}}",
  held_other: "{{count}} 条消息暂停，{{why}}",
  because: {
    stopped: "因为你停止了",
    failed: "因为上一轮失败",
    restart: "因为 Berth 中途结束",
    interrupted: "因为上一轮被中断",
    other: "等待你放行",
  },
  releaseAll: "全部放行",
  release: "放行",
  remove: "移除",
  removed: "已移除一条排队的消息。",
  files_one: "{{count}} 个文件",
  files_other: "{{count}} 个文件",
  uncertain: "不确定 {{agent}} 是否收到。",
  uncertainText: "消息已暂停，绝不会自行重发。",
  sendAgain: "重新发送",
  discard: "丢弃",
  failed: "无法更改队列：{{error}}",
};
