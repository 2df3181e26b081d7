import createClient from "openapi-fetch";
import type { paths } from "./schema";
import type { Problem } from "./types";
import { transport } from "../transport";

/** The generated client. Every call goes through the page's transport. */
export const api = createClient<paths>({ fetch: (request) => transport().fetch(request) });

/** A refusal of the backend: `code` is stable, `message` is for people, `field` names what was wrong with the input. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly field?: string,
    readonly problem?: Partial<Problem>,
  ) {
    super(message);
  }
}

/** Turns the result of a call into its data, or throws what the backend said. */
export async function unwrap<T>(
  call: Promise<{ data?: T; error?: unknown; response: Response }>,
): Promise<T> {
  const { data, error, response } = await call;
  if (response.ok) return data as T;
  const problem = (error ?? {}) as Partial<Problem>;
  const first = problem.errors?.[0];
  throw new ApiError(
    response.status,
    problem.code ?? "failed",
    problem.detail ?? first?.message ?? problem.title ?? `HTTP ${response.status}`,
    first?.location,
    problem,
  );
}
