import { useTranslation } from "react-i18next";
import { Button } from "../ui/Button";

/** Leads to the end, and says how much came since the reader left it. */
export function Below({ show, count, onClick }: { show: boolean; count: number; onClick: () => void }) {
  const { t } = useTranslation();
  if (!show) return null;
  return (
    <Button className="below" icon="down" onClick={onClick}>
      <span className="num">{count > 0 ? t("timeline.below", { count }) : t("timeline.toEnd")}</span>
    </Button>
  );
}
