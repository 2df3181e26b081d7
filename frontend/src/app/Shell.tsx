import { useCommand } from "./registry";
import { walkRegions } from "./regions";
import { closeLayer, useView } from "./view";

/** The window: one view, and the layers above it. */
export function Shell() {
  const view = useView((state) => state.view);
  useCommand("layer.close", closeLayer);
  useCommand("region.next", () => walkRegions(1));
  useCommand("region.previous", () => walkRegions(-1));
  return <div className="app" data-view={view.name} />;
}
