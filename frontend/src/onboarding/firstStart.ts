import { useEffect } from "react";
import { changeSettings, queryClient, queryKeys, useSettings } from "../api/queries";
import type { Settings } from "../api/types";
import { show, useView } from "../app/view";
import { useLive } from "../stream/store";

/** Leads a new user to the first page: nothing was begun yet, and it was not worked through. */
export function useFirstStart(): void {
  const { data } = useSettings();
  const empty = useLive((state) => state.lists.open === "read" && state.chats.size === 0);
  const atStart = useView(({ view }) => view.name === "chat" && view.chat === undefined);
  const wanted = data?.onboarded === false && empty && atStart;
  useEffect(() => {
    if (wanted) show({ name: "welcome" });
  }, [wanted]);
}

/** The first page does not come by itself again. */
export function finishFirstStart(): void {
  if (queryClient.getQueryData<Settings>(queryKeys.settings)?.onboarded) return;
  // It comes once more if this fails: a smaller evil than a message about it.
  void changeSettings({ onboarded: true }).catch(() => {});
}
