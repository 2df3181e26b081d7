import type { ReactElement } from "react";

// Drawn on a 16 px grid with a 1.4 stroke and round ends, in the current colour.
const shapes = {
  chev: (
    <>
      <path d="m6 3.8 4.2 4.2L6 12.2" />
    </>
  ),
  down: (
    <>
      <path d="m4 6.2 4 4 4-4" />
    </>
  ),
  sidebar: (
    <>
      <rect x="2" y="2.8" width="12" height="10.4" rx="1.8" />
      <path d="M6.2 2.8v10.4" />
    </>
  ),
  inspector: (
    <>
      <rect x="2" y="2.8" width="12" height="10.4" rx="1.8" />
      <path d="M9.8 2.8v10.4" />
    </>
  ),
  search: (
    <>
      <circle cx="7.2" cy="7.2" r="4.4" />
      <path d="m10.6 10.6 3 3" />
    </>
  ),
  plus: (
    <>
      <path d="M8 3.2v9.6M3.2 8h9.6" />
    </>
  ),
  x: (
    <>
      <path d="m4 4 8 8m0-8-8 8" />
    </>
  ),
  check: (
    <>
      <path d="m3.2 8.4 3.2 3.2 6.4-7" />
    </>
  ),
  more: (
    <>
      <path d="M3.6 8h.01M8 8h.01M12.4 8h.01" strokeWidth="2" />
    </>
  ),
  folder: (
    <>
      <path d="M2 12V4.2c0-.6.4-1 1-1h3l1.6 1.7H13c.6 0 1 .4 1 1V12c0 .6-.4 1-1 1H3c-.6 0-1-.4-1-1z" />
    </>
  ),
  file: (
    <>
      <path d="M4 13.6V2.4h5L12 5.4v8.2z" />
      <path d="M9 2.6v3h3" />
    </>
  ),
  branch: (
    <>
      <circle cx="4.6" cy="3.8" r="1.5" />
      <circle cx="4.6" cy="12.2" r="1.5" />
      <circle cx="11.4" cy="5.4" r="1.5" />
      <path d="M4.6 5.3v5.4M11.4 6.9c0 2.4-3.2 2-5.6 3.6" />
    </>
  ),
  term: (
    <>
      <path d="m3 4.4 3.4 3.4L3 11.2M8.4 11.8H13" />
    </>
  ),
  edit: (
    <>
      <path d="M3 13l.7-2.8 6.9-6.9a1.2 1.2 0 0 1 1.7 0l.4.4a1.2 1.2 0 0 1 0 1.7l-6.9 6.9z" />
    </>
  ),
  read: (
    <>
      <path d="M3.4 3.4h9.2M3.4 6.4h9.2M3.4 9.4h9.2M3.4 12.4h5" />
    </>
  ),
  think: (
    <>
      <path d="M2.6 10.4c1.8 0 1.8-4.8 3.6-4.8s1.8 4.8 3.6 4.8 1.8-4.8 3.6-4.8" />
    </>
  ),
  globe: (
    <>
      <circle cx="8" cy="8" r="5.6" />
      <path d="M2.6 8h10.8M8 2.4c3 3.4 3 7.8 0 11.2M8 2.4c-3 3.4-3 7.8 0 11.2" />
    </>
  ),
  image: (
    <>
      <rect x="2.2" y="3" width="11.6" height="10" rx="1.4" />
      <circle cx="5.6" cy="6.2" r="1.1" />
      <path d="m2.6 11.6 3.2-3 2.2 1.9 2.8-2.8 2.8 2.8" />
    </>
  ),
  list: (
    <>
      <path d="M6.4 4h7M6.4 8h7M6.4 12h7M2.8 4h.01M2.8 8h.01M2.8 12h.01" />
    </>
  ),
  clock: (
    <>
      <circle cx="8" cy="8" r="5.6" />
      <path d="M8 4.8V8l2.2 1.5" />
    </>
  ),
  sub: (
    <>
      <path d="M4 2.8v5.4c0 1 .8 1.8 1.8 1.8H9" />
      <rect x="9" y="7.8" width="4.4" height="4.4" rx="1.2" />
    </>
  ),
  attach: (
    <>
      <path d="m12.8 7.6-5 5a3 3 0 0 1-4.2-4.2l5.4-5.4a2 2 0 0 1 2.8 2.8l-5.2 5.2a1 1 0 0 1-1.4-1.4l4.6-4.6" />
    </>
  ),
  up: (
    <>
      <path d="M8 13V3.4M4 7.2l4-4 4 4" />
    </>
  ),
  stop: (
    <>
      <rect x="4" y="4" width="8" height="8" rx="1.4" fill="currentColor" stroke="none" />
    </>
  ),
  pause: (
    <>
      <path d="M5.4 3.6v8.8M10.6 3.6v8.8" strokeWidth="1.8" />
    </>
  ),
  play: (
    <>
      <path d="M4.8 3.2v9.6L12.6 8z" />
    </>
  ),
  grip: (
    <>
      <path d="M6 4h.01M10 4h.01M6 8h.01M10 8h.01M6 12h.01M10 12h.01" strokeWidth="1.7" />
    </>
  ),
  now: (
    <>
      <path d="M3 8h8M7.6 4.4 11.2 8l-3.6 3.6M13.4 3.6v8.8" />
    </>
  ),
  undo: (
    <>
      <path d="M5.6 3.2 2.8 6l2.8 2.8M3 6h6.2a3.6 3.6 0 0 1 0 7.2H6" />
    </>
  ),
  retry: (
    <>
      <path d="M13 8a5 5 0 1 1-1.6-3.7M13 2.4v2.8h-2.8" />
    </>
  ),
  copy: (
    <>
      <rect x="5.4" y="5.4" width="8" height="8" rx="1.4" />
      <path d="M10.6 3.4v-.2c0-.6-.4-1-1-1H3.6c-.8 0-1.4.6-1.4 1.4v6c0 .6.4 1 1 1h.2" />
    </>
  ),
  pin: (
    <>
      <path d="M8 9.8v4M5 2.6h6l-.8 3.6 2 2.2v1.4H3.8V8.4l2-2.2z" />
    </>
  ),
  comment: (
    <>
      <path d="M2.6 3.4h10.8v7.4H7.4L4.6 13v-2.2h-2z" />
    </>
  ),
  diff: (
    <>
      <path d="M8 2.8v6M5 5.8h6M5 12.8h6" />
    </>
  ),
  shield: (
    <>
      <path d="M8 2.2 3 4v4c0 3 2.2 4.9 5 6 2.8-1.1 5-3 5-6V4z" />
    </>
  ),
  cal: (
    <>
      <rect x="2.4" y="3.4" width="11.2" height="10" rx="1.4" />
      <path d="M2.6 6.6h10.8M5.4 2.2v2.2M10.6 2.2v2.2" />
    </>
  ),
  gear: (
    <>
      <path d="M2.4 4.6h6.4M12.2 4.6h1.4M2.4 11.4h1.4M7.2 11.4h6.4" />
      <circle cx="10.4" cy="4.6" r="1.7" />
      <circle cx="5.4" cy="11.4" r="1.7" />
    </>
  ),
  phone: (
    <>
      <rect x="4.4" y="1.8" width="7.2" height="12.4" rx="1.6" />
      <path d="M7.4 11.8h1.2" />
    </>
  ),
  screen: (
    <>
      <rect x="2" y="2.8" width="12" height="8" rx="1.4" />
      <path d="M5.6 13.4h4.8" />
    </>
  ),
  proc: (
    <>
      <path d="M2 8.6h2.6L6.4 4l3 8 1.8-3.4H14" />
    </>
  ),
  bell: (
    <>
      <path d="M3.4 11.4h9.2c-.9-1-1.3-2-1.3-4.6A3.3 3.3 0 0 0 8 3.4a3.3 3.3 0 0 0-3.3 3.4c0 2.6-.4 3.6-1.3 4.6zM6.8 13.4h2.4" />
    </>
  ),
  link: (
    <>
      <path d="M9.4 3.4h3.2v3.2M12.4 3.6 7.6 8.4M11.6 9.2v3c0 .4-.4.8-.8.8h-7c-.4 0-.8-.4-.8-.8v-7c0-.4.4-.8.8-.8h3" />
    </>
  ),
  back: (
    <>
      <path d="M10 3.8 5.8 8l4.2 4.2" />
    </>
  ),
  split: (
    <>
      <rect x="2" y="2.8" width="12" height="10.4" rx="1.8" />
      <path d="M8 2.8v10.4" />
    </>
  ),
  moon: (
    <>
      <path d="M13 9.4A5.4 5.4 0 1 1 6.6 3a4.4 4.4 0 0 0 6.4 6.4z" />
    </>
  ),
  eye: (
    <>
      <path d="M1.8 8S4 4 8 4s6.2 4 6.2 4-2.2 4-6.2 4-6.2-4-6.2-4z" />
      <circle cx="8" cy="8" r="1.7" />
    </>
  ),
  fork: (
    <>
      <circle cx="4" cy="3.6" r="1.5" />
      <circle cx="12" cy="3.6" r="1.5" />
      <circle cx="8" cy="12.4" r="1.5" />
      <path d="M4 5.2c0 3 4 2 4 5.6M12 5.2c0 3-4 2-4 5.6" />
    </>
  ),
  down2: (
    <>
      <path d="M8 3v10M4 9l4 4 4-4" />
    </>
  ),
} satisfies Record<string, ReactElement>;

export type IconName = keyof typeof shapes;

/** A drawing without a meaning of its own: what it stands for is said by the control around it. */
export function Icon({ name, className = "" }: { name: IconName; className?: string }) {
  return (
    <svg className={`i ${className}`} viewBox="0 0 16 16" aria-hidden="true">
      {shapes[name]}
    </svg>
  );
}

export function Brand({ size = 34 }: { size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 20 20" className="acc" aria-hidden="true">
      <path
        d="M3 4.5v8.2c0 1.8 1.5 3.3 3.3 3.3h7.4c1.8 0 3.3-1.5 3.3-3.3V4.5"
        fill="none"
        stroke="currentColor"
        strokeWidth="2"
        strokeLinecap="round"
      />
      <path d="M7 11.8V7.6L10 4l3 3.6v4.2z" fill="currentColor" />
    </svg>
  );
}
