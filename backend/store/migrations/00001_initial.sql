-- +goose Up
create table meta (
  key   text primary key,
  value text not null
) strict, without rowid;

create table chats (
  id            text primary key,
  agent         text not null,
  cwd           text not null,
  title         text not null,
  title_by_user integer not null default 0,
  folder        text not null default '',   -- the user's folder, '' for that of cwd
  model         text not null default '',
  effort        text not null default '',
  permissions   text not null default 'ask',
  instructions  text not null default '',
  root_bypass   integer not null default 0,
  conversation  text not null default '',   -- the agent's own id
  turn_id       text not null default '',   -- the turn that runs, or else the last one
  pinned        integer not null default 0,
  archived      integer not null default 0,
  position      real not null default 0,    -- order within its folder, least first
  seq           integer not null default 0, -- last used event number
  read_seq      integer not null default 0,
  unread_mark   integer not null default 0, -- marked unread by hand
  content_seq   integer not null default 0, -- last item of the agent that can be unread
  draft         text not null default '',   -- JSON
  usage         text not null default '',   -- JSON
  commands      text not null default '',   -- JSON
  deleted       integer not null default 0, -- gone for the user; its rows are being purged
  fenced        text not null default '',   -- reason while a stop is unconfirmed
  last_line     text not null default '',   -- what lists show under the title
  created_at    integer not null,           -- milliseconds since 1970
  updated_at    integer not null
) strict;

create table events (
  id      integer primary key autoincrement,
  chat_id text,
  seq     integer,
  turn_id text,
  item_id text,
  type    text not null,
  at      integer not null,
  body    text not null
) strict;
create unique index events_chat on events(chat_id, seq) where chat_id is not null;
create index events_text on events(item_id, id) where type = 'item.text';

create table items (
  id          text primary key,
  chat_id     text not null references chats(id) on delete cascade,
  turn_id     text,
  parent_id   text,
  kind        text not null,
  status      text not null,
  seq         integer not null,              -- first event
  last_event  integer not null,
  revision    integer not null,
  at          integer not null,
  summary     text not null,
  provider_id text not null default '',
  streaming   integer not null default 0,    -- its text is still in item.text events
  body        text not null
) strict;
create unique index items_page on items(chat_id, seq);
create index items_turn on items(turn_id, seq);
create index items_open on items(chat_id) where status in ('pending','in_progress');
create index items_provider on items(chat_id, provider_id) where provider_id <> '';

create table turns (
  id           text primary key,
  chat_id      text not null references chats(id) on delete cascade,
  state        text not null,
  position     real,                         -- order in the queue, null once started
  client_id    text not null,
  request_hash text not null,                -- of the request body, to tell a retry from a clash
  text         text not null,
  attachments  text not null default '[]',   -- JSON
  model        text not null default '',
  effort       text not null default '',
  permissions  text not null default '',
  reason       text not null default '',     -- why held, failed, stopped
  error        text not null default '',     -- JSON
  delivery     text not null default '',     -- '', writing, accepted
  conversation text not null default '',     -- the agent's id when it was delivered
  created_at   integer not null,
  started_at   integer,
  ended_at     integer
) strict;
create unique index turns_client on turns(chat_id, client_id);
create index turns_queue on turns(chat_id, position) where position is not null;
create index turns_live on turns(state) where state not in ('completed','failed','stopped','interrupted');
create index turns_chat on turns(chat_id, created_at);

create table requests (
  id         text primary key,
  chat_id    text not null references chats(id) on delete cascade,
  turn_id    text not null,
  item_id    text not null,
  kind       text not null,
  state      text not null,                  -- pending, answered, cancelled, withdrawn
  title      text not null,
  answer     text not null default '',       -- JSON
  created_at integer not null,
  ended_at   integer
) strict;
create index requests_pending on requests(created_at) where state = 'pending';
create index requests_chat on requests(chat_id, created_at);

create table files (
  id         text primary key,
  name       text not null,
  type       text not null,
  size       integer not null,
  received   integer not null,               -- bytes so far; whole when equal to size
  width      integer not null default 0,
  height     integer not null default 0,
  origin     text not null,                  -- upload, output, image, artifact
  chat_id    text,
  created_at integer not null
) strict;
create index files_chat on files(chat_id) where chat_id is not null;

create table settings (
  key   text primary key,
  value text not null                        -- JSON
) strict, without rowid;

create table phrases (
  id       text primary key,
  text     text not null,
  position real not null
) strict;

create table processes (
  id         text primary key,
  pid        integer not null,
  start_time integer not null,               -- the platform's own unit, part of the identity
  boot_id    text not null,
  executable text not null,
  label      text not null,
  chat_id    text not null default '',
  execution  text not null default '',
  started_at integer not null,
  ended_at   integer,
  outcome    text not null default ''
) strict;
create index processes_live on processes(started_at) where ended_at is null;
