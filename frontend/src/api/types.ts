import type { components } from "./schema";

/** Short names for what the API speaks of. Everything here is generated from the backend's OpenAPI document. */
type Schemas = components["schemas"];

export type Item = Schemas["Item"];
export type Body = Schemas["Body"];
export type Tool = Schemas["Tool"];
export type Attachment = Schemas["Attachment"];
export type FileRef = Schemas["File"];
export type FileDiff = Schemas["FileDiff"];
export type AskRequest = Schemas["Request"];
export type RequestOption = Schemas["Option"];
export type RequestAnswer = Schemas["RequestAnswer"];
export type QuestionField = Schemas["QuestionField"];
export type Delta = Schemas["Delta"];
export type StreamEvent = Schemas["Event"];
export type Batch = Schemas["Batch"];
export type Chat = Schemas["Chat"];
export type Turn = Schemas["Turn"];
export type TurnState = Turn["state"];
export type Attention = Schemas["Attention"];
export type Agent = Schemas["Description"];
export type Model = Schemas["Model"];
export type Permission = Chat["permissions"];
export type AgentCommand = Schemas["Command"];
export type Draft = Schemas["Draft"];
export type NewChat = Schemas["NewChat"];
export type NewTurn = Schemas["NewTurn"];
export type Accepted = Schemas["Accepted"];
export type GivenAnswer = Schemas["GivenAnswer"];
export type ChatChange = Schemas["Change"];
export type ItemPage = Schemas["Page"];
export type Usage = Schemas["Usage"];
