/**
 * F6 walks the regions of the window. A region is an element with
 * `data-region`; it is entered at itself if it takes the focus, at the element
 * marked `data-region-entry`, else at its first focusable one.
 */
export const regionOrder = ["sidebar", "timeline", "request", "queue", "composer", "inspector"] as const;
export type Region = (typeof regionOrder)[number];

const FOCUSABLE = "button:not([tabindex='-1']), [href], input, textarea, select, [tabindex='0']";

function entryOf(region: Element): HTMLElement | null {
  if (region instanceof HTMLElement && region.tabIndex >= 0) return region;
  return (
    region.querySelector<HTMLElement>("[data-region-entry]") ?? region.querySelector<HTMLElement>(FOCUSABLE)
  );
}

function visibleRegions(): Element[] {
  return regionOrder.flatMap((name) => {
    const region = document.querySelector(`[data-region="${name}"]`);
    return region && region.getClientRects().length > 0 && entryOf(region) ? [region] : [];
  });
}

export function focusRegion(name: Region): boolean {
  const region = document.querySelector(`[data-region="${name}"]`);
  const entry = region && entryOf(region);
  entry?.focus();
  return Boolean(entry);
}

export function walkRegions(step: 1 | -1): void {
  const regions = visibleRegions();
  if (regions.length === 0) return;
  const at = regions.findIndex((region) => region.contains(document.activeElement));
  const next = regions[(at + step + regions.length) % regions.length] ?? regions[0];
  if (next) entryOf(next)?.focus();
}
