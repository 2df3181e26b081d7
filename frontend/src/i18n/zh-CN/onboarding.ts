import type { Words } from "../catalogue";
import type { onboarding as en } from "../en/onboarding";

export const onboarding: Words<typeof en> = {
  label: "首次启动",
  looking: "正在这台电脑上查找智能体",
  lookedAt: "已查看 {{seen}} 个，共 {{all}} 个",
  ready: {
    n0: "这台电脑上还没有就绪的智能体",
    n1: "这台电脑上有一个智能体已就绪",
    n2: "这台电脑上有两个智能体已就绪",
    n3: "这台电脑上有三个智能体已就绪",
    n4: "这台电脑上有四个智能体已就绪",
    n5: "这台电脑上有五个智能体已就绪",
    many: "这台电脑上有 {{count}} 个智能体已就绪",
  },
  text: "Berth 启动你已有的智能体，并使用它们自己的登录。Berth 本身不会向任何地方发送数据。",
  agents: "智能体",
  failed: "无法读取智能体",
  demo: {
    title: "演示智能体",
    text: "Berth 自带。离线运行，只更改示例文件夹，约一分钟展示每一种步骤。",
    start: "试用演示",
  },
  start: "选择文件夹并开始",
  skip: "暂不",
  lookAgain: "重新查找",
  lookingAgain: "正在查找",
};
