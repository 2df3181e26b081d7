import { NewChat } from "../newchat/NewChat";
import { useView } from "./view";

/** What lies above the view, the last opened on top. */
export function Layers() {
  const layers = useView((state) => state.layers);
  return layers.map((layer) => {
    switch (layer.name) {
      case "newChat":
        return <NewChat key="newChat" cwd={layer.cwd} agent={layer.agent} />;
      default:
        return null;
    }
  });
}
