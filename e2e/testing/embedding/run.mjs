import { tryNode } from './host.mjs';

void tryNode().then((result) => console.log(JSON.stringify(result)));
