/*
 * A service on Express with logins, whose sessions decide who may read its node below /ops. What somebody follows ends
 * when they log out.
 *
 *   npm install express express-session porthole && SECRET=... node examples/embed-sessions.mjs
 */
import { promisify } from 'node:util';
import express from 'express';
import session from 'express-session';
import { createNode } from 'porthole';

const node = await createNode({
  settings: { http: { basePath: '/ops' }, logging: { dir: 'log/sessions' } },
  authenticate: async ({ source: { sessionStore, sessionID } }) => {
    // As the store has it now: `source.session` stays what it was when the request came.
    const current = await promisify(sessionStore.get).call(sessionStore, sessionID);
    const user = current?.user;
    return user ? { name: user.name, roles: user.isOperator ? ['viewer', 'config'] : ['viewer'] } : null;
  },
});

const app = express();
app.use(session({ secret: process.env.SECRET ?? 'of this example', resave: false, saveUninitialized: false }));
app.use('/ops', node.handler);
// A real service checks a password here.
app.post('/login', (request, response) => {
  request.session.user = { name: 'ann', isOperator: true };
  response.send('welcome\n');
});
app.post('/logout', (request, response) => request.session.destroy(() => response.send('goodbye\n')));
const server = app.listen(Number(process.env.PORT ?? 8080), '127.0.0.1', () => {
  console.log(`sessions http://127.0.0.1:${server.address().port}/ops/`);
});

process.once('SIGTERM', async () => {
  await node.close();
  server.close();
});
