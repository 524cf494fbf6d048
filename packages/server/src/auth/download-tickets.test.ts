import { describe, expect, it } from 'vitest';
import { DownloadTickets } from './download-tickets.ts';

const TARGET = '/api/v1/log/raw?file=a.log';

function issued(authorization: string | undefined = 'Bearer secret') {
  const tickets = new DownloadTickets();
  const { ticket, expiresInMs } = tickets.issue({ authorization, target: TARGET }, 0);
  return { tickets, url: `${TARGET}&ticket=${ticket}`, expiresInMs, ticket };
}

describe('a download ticket', () => {
  it('stands for the header it was issued with, once', () => {
    const { tickets, url } = issued();
    expect(tickets.redeem(url, 0)).toBe('Bearer secret');
    expect(tickets.redeem(url, 0)).toBeUndefined();
  });

  it('is of one URL, and spent on another', () => {
    const { tickets, url, ticket } = issued();
    expect(tickets.redeem(`/api/v1/log/raw?file=b.log&ticket=${ticket}`, 0)).toBeUndefined();
    expect(tickets.redeem(url, 0)).toBeUndefined();
  });

  it('expires', () => {
    const { tickets, url, expiresInMs } = issued();
    expect(tickets.redeem(url, expiresInMs)).toBeUndefined();
  });

  it('is not what a URL without one has', () => {
    const { tickets } = issued();
    for (const url of ['/', TARGET, `${TARGET}&ticket=`, `${TARGET}&ticket=__proto__`, `${TARGET}&ticket=a&ticket=b`])
      expect(tickets.redeem(url, 0)).toBeUndefined();
  });

  it('is forgotten when there are too many', () => {
    const { tickets, url } = issued();
    for (let count = 0; count < 1000; count++) tickets.issue({ authorization: undefined, target: '/' }, 0);
    expect(tickets.redeem(url, 0)).toBeUndefined();
  });
});
