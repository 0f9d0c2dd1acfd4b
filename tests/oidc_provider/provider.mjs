// node provider.mjs FOLDER PORT REDIRECT: an identity provider at http://localhost:PORT that knows one client, “forky”.
// Whoever signs in is believed. Names and addresses are given at the userinfo endpoint only, as the standard has it.
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [folder, port, redirect] = process.argv.slice(2);
const { Provider } = await import(pathToFileURL(join(folder, "node_modules/oidc-provider/lib/index.js")));

const provider = new Provider(`http://localhost:${port}`, {
  clients: [{ client_id: "forky", client_secret: "hush", redirect_uris: [redirect] }],
  claims: { openid: ["sub"], profile: ["name"], email: ["email", "email_verified"] },
  findAccount: (_context, id) => ({
    accountId: id,
    claims: () => ({ sub: id, name: "Ada Lovelace", email: `${id}@example.org`, email_verified: true }),
  }),
});
provider.listen(Number(port), "127.0.0.1", () => console.log("listening"));
