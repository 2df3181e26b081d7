import { beforeEach, describe, expect, it } from "vitest";
import { shown, type Entry } from "./entries";
import { recents, used } from "./recents";

const entry = (id: string, group: string, title: string): Entry => ({ id, group, title, run: () => {} });
const words = { recent: "Recent", chats: "Chats" };
const shape = (list: Entry[], query: string) =>
  shown(list, query, words).map(
    (group) => `${group.name}: ${group.entries.map((one) => one.title).join(", ")}`,
  );

beforeEach(() => localStorage.clear());

describe("the palette shows", () => {
  const list = [
    entry("chat 1", "Chats", "Uploads"),
    entry("chat 2", "Chats", "Slog"),
    entry("command a", "View", "Sidebar"),
    entry("command b", "Chats of", "Upload files"),
  ];

  it("what was used last first, and nothing twice", () => {
    used("command a");
    used("gone");
    used("chat 2");
    expect(shape(list, "")).toEqual(["Recent: Slog, Sidebar", "Chats: Uploads", "Chats of: Upload files"]);
  });

  it("the groups by their best answer", () => {
    expect(shape(list, "upload f")).toEqual(["Chats of: Upload files"]);
    expect(shape(list, "side")).toEqual(["View: Sidebar"]);
    expect(shape(list, "none of it")).toEqual([]);
  });

  it("only as many recent ones as there is room for", () => {
    for (let n = 0; n < 20; n++) used(`chat ${n}`);
    expect(recents()).toEqual(["chat 19", "chat 18", "chat 17", "chat 16", "chat 15", "chat 14"]);
    localStorage.setItem("berth.palette", "{");
    expect(recents()).toEqual([]);
  });
});
