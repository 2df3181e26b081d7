// Written by Berth. Commands that the agent runs do not get the password of
// the server that Berth talks to.
export const Berth = async () => ({
  "shell.env": async (_input, output) => {
    output.env.OPENCODE_SERVER_PASSWORD = ""
  },
})
