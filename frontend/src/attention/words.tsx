import { Age } from "../ui/Clock";

/** A sentence of the catalogue around a clock that runs by itself; `words` has a zero byte in its place. */
export function AroundAge({ words, at }: { words: string; at: string }) {
  const [before, after] = words.split("\u0000");
  return (
    <>
      {before}
      <Age at={at} />
      {after}
    </>
  );
}
