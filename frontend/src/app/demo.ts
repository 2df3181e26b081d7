import i18next from "i18next";
import { api, unwrap } from "../api/client";
import { toast } from "../ui/Toasts";
import { openChat } from "./view";

/** Makes a demo chat in its sample folder and opens it. */
export async function startDemo(): Promise<void> {
  try {
    openChat((await unwrap(api.POST("/api/v1/demo"))).id);
  } catch (error) {
    toast(i18next.t("app.demoFailed", { error: error instanceof Error ? error.message : String(error) }));
  }
}
