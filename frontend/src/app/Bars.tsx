import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { api, unwrap } from "../api/client";
import { queryKeys } from "../api/queries";
import { clock, duration } from "../i18n/format";
import { reconnectNow, useLive } from "../stream/store";
import { Button } from "../ui/Button";
import { useNow } from "../ui/Clock";
import { Signal } from "../ui/Signal";

// A break shorter than this is not worth a word; one longer counts as offline.
const QUIET_MS = 2_000;
const OFFLINE_MS = 20_000;
// While nothing is accepted, whether that has changed is asked this often.
const ADMISSION_MS = 15_000;

/** What is wrong with the connection or the disk, in lines that cover nothing. */
export function Bars() {
  return (
    <>
      <ConnectionBar />
      <AdmissionBar />
    </>
  );
}

function ConnectionBar() {
  const connection = useLive((state) => state.connection);
  if (connection.state !== "reconnecting") return null;
  return <Reconnecting {...connection} />;
}

function Reconnecting({ since, attempt, retryAt }: { since: number; attempt: number; retryAt: number }) {
  const { t } = useTranslation();
  const now = useNow();
  const asOf = useLive((state) => state.asOf);
  const [quiet, setQuiet] = useState(true);
  useEffect(() => {
    const timer = setTimeout(() => setQuiet(false), QUIET_MS);
    return () => clearTimeout(timer);
  }, []);
  if (quiet && now - since < QUIET_MS) return null;
  const offline = now - since > OFFLINE_MS;
  return (
    <div className="ban" role="status">
      <Signal name={offline ? "offline" : "running"} />
      <span className="grow num">
        {offline
          ? t("app.offline", { time: clock(asOf ?? since) })
          : t("app.reconnecting", {
              attempt,
              wait: duration(Math.max(0, Math.ceil((retryAt - now) / 1000) * 1000)),
            })}
      </span>
      <Button small look="quiet" onClick={reconnectNow}>
        {offline ? t("app.tryNow") : t("app.reconnectNow")}
      </Button>
    </div>
  );
}

function AdmissionBar() {
  const { t } = useTranslation();
  const { data, refetch } = useQuery({
    queryKey: queryKeys.health,
    queryFn: () => unwrap(api.GET("/api/v1/health")),
    refetchInterval: (query) => (query.state.data?.admission.state === "closed" ? ADMISSION_MS : false),
  });
  const admission = data?.admission;
  if (admission?.state !== "closed") return null;
  const text = {
    disk_full: t("app.diskFull"),
    damaged: t("app.damaged"),
    closing: t("app.closing"),
  }[admission.reason ?? "closing"];
  return (
    <div className="ban dan" role="alert">
      <Signal name="failed" />
      <span className="grow">
        {text} {admission.detail && <span className="mono t12">{admission.detail}</span>}
      </span>
      <Button small onClick={() => void refetch()}>
        {t("common.tryAgain")}
      </Button>
    </div>
  );
}
