/*
 * A service on NestJS with its node below /ops, on the port of the service. In TypeScript, `Module` and the others are
 * written as decorators.
 *
 *   npm install @nestjs/core @nestjs/common @nestjs/platform-express reflect-metadata rxjs porthole
 *   node examples/embed-nest.mjs
 */
import 'reflect-metadata';
import { Controller, Get, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { createNode } from 'porthole';

const node = await createNode({
  settings: { http: { basePath: '/ops' }, logging: { dir: 'log/nest' } },
  config: { orders: { perSecond: 5 } },
});

class Shop {
  front() {
    return 'the shop\n';
  }
}
Get()(Shop.prototype, 'front', Object.getOwnPropertyDescriptor(Shop.prototype, 'front'));
Controller()(Shop);

class Service {}
Module({ controllers: [Shop] })(Service);

const app = await NestFactory.create(Service, { logger: false });
app.use('/ops', node.handler);
await app.listen(Number(process.env.PORT ?? 8080), '127.0.0.1');
console.log(`nest ${await app.getUrl()}/ops/`);

process.once('SIGTERM', async () => {
  await node.close();
  await app.close();
});
