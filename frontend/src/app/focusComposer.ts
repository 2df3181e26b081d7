import { runCommand } from "./registry";

// A view that is opened needs a moment until its composer is drawn.
const FOCUS_TRIES = 30;

/** Puts the focus where words are written, as soon as the chat just opened is drawn. */
export function focusComposer(done: () => void = () => {}, tries = FOCUS_TRIES): void {
  requestAnimationFrame(() => {
    if (tries === 0 || runCommand("composer.focus")) done();
    else focusComposer(done, tries - 1);
  });
}
