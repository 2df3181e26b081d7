import type { ReactElement } from "react";

// One sign per state, told apart by shape before colour (design, states sheet).
const shapes = {
  running: (
    <>
      <circle cx="7" cy="7" r="4.9" fill="none" stroke="currentColor" strokeOpacity=".28" strokeWidth="1.8" />
      <path
        d="M7 2.1A4.9 4.9 0 0 1 11.9 7"
        fill="none"
        stroke="currentColor"
        strokeWidth="1.8"
        strokeLinecap="round"
      />
    </>
  ),
  approval: (
    <>
      <path d="M7 1.2 12.8 7 7 12.8 1.2 7z" fill="currentColor" />
    </>
  ),
  question: (
    <>
      <path
        d="M7 1.9 12.1 7 7 12.1 1.9 7z"
        fill="none"
        stroke="currentColor"
        strokeWidth="1.5"
        strokeLinejoin="round"
      />
      <circle cx="7" cy="7" r="1.35" fill="currentColor" />
    </>
  ),
  alert: (
    <>
      <path d="M7 1.2 13.2 12H.8z" fill="currentColor" />
    </>
  ),
  unseen: (
    <>
      <circle cx="7" cy="7" r="4.2" fill="currentColor" />
    </>
  ),
  idle: (
    <>
      <circle cx="7" cy="7" r="3.4" fill="none" stroke="currentColor" strokeWidth="1.3" />
    </>
  ),
  queued: (
    <>
      <g fill="none" stroke="currentColor" strokeWidth="1.5" strokeLinecap="round">
        <path d="M3 4.2h8M3 7h8M3 9.8h5" />
      </g>
    </>
  ),
  failed: (
    <>
      <rect
        x="1.8"
        y="1.8"
        width="10.4"
        height="10.4"
        rx="2"
        fill="none"
        stroke="currentColor"
        strokeWidth="1.4"
      />
      <path d="m5 5 4 4m0-4-4 4" stroke="currentColor" strokeWidth="1.4" strokeLinecap="round" />
    </>
  ),
  stopped: (
    <>
      <rect
        x="2.9"
        y="2.9"
        width="8.2"
        height="8.2"
        rx="1.4"
        fill="none"
        stroke="currentColor"
        strokeWidth="1.4"
      />
    </>
  ),
  interrupted: (
    <>
      <path d="M7 2.2a4.8 4.8 0 0 0 0 9.6" fill="none" stroke="currentColor" strokeWidth="1.4" />
      <path
        d="M7 2.2a4.8 4.8 0 0 1 0 9.6"
        fill="none"
        stroke="currentColor"
        strokeWidth="1.4"
        strokeDasharray="1.4 2"
      />
    </>
  ),
  offline: (
    <>
      <circle
        cx="7"
        cy="7"
        r="4.6"
        fill="none"
        stroke="currentColor"
        strokeWidth="1.4"
        strokeDasharray="1.9 1.7"
      />
    </>
  ),
  uncertain: (
    <>
      <circle
        cx="7"
        cy="7"
        r="5.1"
        fill="none"
        stroke="currentColor"
        strokeWidth="1.3"
        strokeDasharray="2 1.55"
      />
      <path
        d="M5.6 5.7c0-.9.6-1.4 1.4-1.4s1.4.5 1.4 1.3c0 1-1.4 1.1-1.4 2.1"
        fill="none"
        stroke="currentColor"
        strokeWidth="1.2"
        strokeLinecap="round"
      />
      <circle cx="7" cy="9.6" r=".75" fill="currentColor" />
    </>
  ),
  fenced: (
    <>
      <circle cx="7" cy="7" r="5.4" fill="none" stroke="currentColor" strokeWidth="1.5" />
      <path d="M4 7h6" stroke="currentColor" strokeWidth="2" strokeLinecap="round" />
    </>
  ),
  done: (
    <>
      <path
        d="m2.8 7.4 2.8 2.8 5.6-6.2"
        fill="none"
        stroke="currentColor"
        strokeWidth="1.6"
        strokeLinecap="round"
        strokeLinejoin="round"
      />
    </>
  ),
  absent: (
    <>
      <path d="M3.4 7h7.2" stroke="currentColor" strokeWidth="1.8" strokeLinecap="round" />
    </>
  ),
  job: (
    <>
      <circle cx="7" cy="7" r="5" fill="none" stroke="currentColor" strokeWidth="1.3" />
      <path
        d="M7 4.2V7l1.9 1.4"
        fill="none"
        stroke="currentColor"
        strokeWidth="1.3"
        strokeLinecap="round"
        strokeLinejoin="round"
      />
    </>
  ),
} satisfies Record<string, ReactElement>;

type Shape = keyof typeof shapes;

/** The states of the product and how each is drawn. The word beside it is the caller's. */
const signals = {
  running: { shape: "running", tone: "c-run spin" },
  approval: { shape: "approval", tone: "c-att" },
  question: { shape: "question", tone: "c-att" },
  alert: { shape: "alert", tone: "c-dan" },
  unseen: { shape: "unseen", tone: "c-run" },
  idle: { shape: "idle", tone: "c-idle" },
  held: { shape: "queued", tone: "c-att" },
  deferred: { shape: "queued", tone: "c-idle" },
  failed: { shape: "failed", tone: "c-dan" },
  stopped: { shape: "stopped", tone: "c-idle" },
  interrupted: { shape: "interrupted", tone: "c-idle" },
  offline: { shape: "offline", tone: "c-idle" },
  uncertain: { shape: "uncertain", tone: "c-att" },
  fenced: { shape: "fenced", tone: "c-dan" },
  done: { shape: "done", tone: "c-suc" },
  scheduled: { shape: "job", tone: "c-idle" },
  absent: { shape: "absent", tone: "c-idle" },
} satisfies Record<string, { shape: Shape; tone: string }>;

export type SignalName = keyof typeof signals;

export function Signal({ name, className = "" }: { name: SignalName; className?: string }) {
  const { shape, tone } = signals[name];
  return (
    <svg className={`s ${tone} ${className}`} viewBox="0 0 14 14" aria-hidden="true">
      {shapes[shape]}
    </svg>
  );
}
