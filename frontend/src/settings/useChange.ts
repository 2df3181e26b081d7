import { useState } from "react";
import { changeSettings } from "../api/queries";
import { ApiError } from "../api/client";
import type { SettingsChange } from "../api/types";

/** Changes settings and keeps what was refused, to be shown at its field. */
export function useChange(): {
  change: (next: SettingsChange) => Promise<boolean>;
  error: string | undefined;
  /** The field that was wrong, such as body.agents.claude.executable. */
  field: string | undefined;
} {
  const [refused, setRefused] = useState<{ text: string; field: string | undefined }>();
  const change = async (next: SettingsChange) => {
    try {
      await changeSettings(next);
      setRefused(undefined);
      return true;
    } catch (error) {
      setRefused({
        text: error instanceof Error ? error.message : String(error),
        field: error instanceof ApiError ? error.field : undefined,
      });
      return false;
    }
  };
  return { change, error: refused?.text, field: refused?.field };
}
