const { createNode, startNode } = require('porthole');

console.log(typeof createNode, typeof startNode);
