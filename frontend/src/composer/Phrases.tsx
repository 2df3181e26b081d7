import { useTranslation } from "react-i18next";
import { api, unwrap } from "../api/client";
import { queryClient, queryKeys, usePhrases } from "../api/queries";
import { show } from "../app/view";
import { IconButton } from "../ui/Button";
import { Menu, MenuItem, MenuSeparator } from "../ui/Menu";

async function save(text: string): Promise<void> {
  await unwrap(api.POST("/api/v1/phrases", { body: { text } }));
  void queryClient.invalidateQueries({ queryKey: queryKeys.phrases });
}

/** Sentences that are written often. Choosing one puts it at the caret; it is not sent. */
export function Phrases({ text, onInsert }: { text: string; onInsert: (phrase: string) => void }) {
  const { t } = useTranslation();
  const { data: phrases } = usePhrases();
  return (
    <Menu side="top" trigger={<IconButton className="cq-m" icon="comment" label={t("composer.phrases")} />}>
      {phrases?.length === 0 && <div className="glabel">{t("composer.noPhrases")}</div>}
      {phrases?.map((phrase) => (
        <MenuItem key={phrase.id} onSelect={() => onInsert(phrase.text)}>
          {phrase.text}
        </MenuItem>
      ))}
      <MenuSeparator />
      <MenuItem
        icon="plus"
        off={text.trim() ? undefined : t("composer.empty")}
        onSelect={() => void save(text.trim())}
      >
        {t("composer.savePhrase")}
      </MenuItem>
      <MenuItem icon="edit" onSelect={() => show({ name: "settings", page: "phrases" })}>
        {t("composer.managePhrases")}
      </MenuItem>
    </Menu>
  );
}
