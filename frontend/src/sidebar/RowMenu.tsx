import { Menu as Base } from "@base-ui/react/menu";
import { ChatMenuItems } from "../chats/ChatMenu";
import { useLive } from "../stream/store";

export type RowMenuTarget = { id: string; anchor: HTMLElement };

/** The menu of a row, at the row: by right click, the menu key or Shift F10. */
export function RowMenu({ target, onClose }: { target: RowMenuTarget | undefined; onClose: () => void }) {
  const chat = useLive((state) => (target ? state.chats.get(target.id) : undefined));
  if (!target || !chat) return null;
  return (
    <Base.Root open onOpenChange={(open) => !open && onClose()}>
      <Base.Portal>
        <Base.Positioner
          className="layer"
          anchor={target.anchor}
          align="end"
          sideOffset={2}
          collisionPadding={8}
        >
          <Base.Popup className="popup" finalFocus={{ current: target.anchor }}>
            <ChatMenuItems chat={chat} />
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
