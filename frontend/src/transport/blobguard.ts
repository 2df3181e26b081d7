/** Whether a body holds a Blob or File, alone or in a form. */
function holdsBlob(body: unknown): boolean {
  if (body instanceof Blob) return true;
  return body instanceof FormData && [...body.values()].some((value) => value instanceof Blob);
}

const refusal = () =>
  new TypeError("A file cannot be sent as a request body in this window; use Transport.upload.");

/**
 * In the Linux window a Blob as a request body ends the whole program
 * (SIGSEGV in WebKit's URI scheme request). Nothing of ours sends one; this
 * makes sure that nothing else can.
 */
export function forbidBlobBodies(scope: typeof globalThis): void {
  const { fetch } = scope;
  scope.fetch = (input, init) =>
    holdsBlob(init?.body) ? Promise.reject(refusal()) : fetch.call(scope, input, init);
  scope.Request = new Proxy(scope.Request, {
    construct(target, [input, init]: [RequestInfo, RequestInit?]) {
      if (holdsBlob(init?.body)) throw refusal();
      return new target(input, init);
    },
  });
  // eslint-disable-next-line @typescript-eslint/unbound-method -- called with its own `this` below
  const send = scope.XMLHttpRequest.prototype.send;
  scope.XMLHttpRequest.prototype.send = function (body) {
    if (holdsBlob(body)) throw refusal();
    send.call(this, body);
  };
  scope.navigator.sendBeacon = () => false;
}
