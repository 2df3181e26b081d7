import { useRef, type FocusEvent, type KeyboardEvent } from "react";

// A pause longer than this begins a new word.
const TYPE_AHEAD_MS = 700;

const optionsOf = (list: HTMLElement) => [...list.querySelectorAll<HTMLElement>('[role="option"]')];

/**
 * A list of options as one tab stop: arrows, Home, End and type-ahead inside,
 * Enter and Space activate. The option that had the focus last keeps the tab
 * stop.
 */
export function useListKeys() {
  const typed = useRef({ text: "", at: 0 });
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const options = optionsOf(event.currentTarget);
    const at = options.indexOf(event.target as HTMLElement);
    const goTo = (place: number) => {
      event.preventDefault();
      options[Math.max(0, Math.min(place, options.length - 1))]?.focus();
    };
    switch (event.key) {
      case "ArrowDown":
        return goTo(at + 1);
      case "ArrowUp":
        return goTo(at - 1);
      case "Home":
        return goTo(0);
      case "End":
        return goTo(options.length - 1);
      case "Enter":
      case " ":
        if (at < 0) return;
        event.preventDefault();
        options[at]?.click();
        return;
      default:
        if (event.key.length === 1 && at >= 0) typeAhead(event, options, at);
    }
  };
  const typeAhead = (event: KeyboardEvent, options: HTMLElement[], at: number) => {
    const now = Date.now();
    const fresh = now - typed.current.at > TYPE_AHEAD_MS;
    typed.current = { text: (fresh ? "" : typed.current.text) + event.key.toLowerCase(), at: now };
    const from = fresh ? at + 1 : at;
    const turned = [...options.slice(from), ...options.slice(0, from)];
    turned.find((option) => option.textContent?.toLowerCase().startsWith(typed.current.text))?.focus();
  };
  const onFocus = (event: FocusEvent<HTMLElement>) => {
    for (const option of optionsOf(event.currentTarget)) option.tabIndex = option === event.target ? 0 : -1;
  };
  return { onKeyDown, onFocus };
}
