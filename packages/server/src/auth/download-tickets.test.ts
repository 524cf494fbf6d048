import { describe, expect, it } from 'vitest';
import { DownloadTickets } from './download-tickets.ts';

const TARGET = '/api/v1/log/raw?file=a.log';

function issued(authorization: string | undefined = 'Bearer secret') {
  const tickets = new DownloadTickets();
  const { ticket } = tickets.issue({ client: 'token:ann', authorization, target: TARGET });
  return { tickets, url: `${TARGET}&ticket=${ticket}`, ticket };
}

describe('a download ticket', () => {
  it('stands for the header it was issued with, once', () => {
    const { tickets, url } = issued();
    expect(tickets.redeem(url)).toBe('Bearer secret');
    expect(tickets.redeem(url)).toBeUndefined();
  });

  it('is of one URL, and spent on another', () => {
    const { tickets, url, ticket } = issued();
    expect(tickets.redeem(`/api/v1/log/raw?file=b.log&ticket=${ticket}`)).toBeUndefined();
    expect(tickets.redeem(url)).toBeUndefined();
  });

  it('expires, by a clock that does not jump', () => {
    let nowMs = 0;
    const tickets = new DownloadTickets(() => nowMs);
    const issue = () => tickets.issue({ client: 'token:ann', authorization: 'Bearer secret', target: TARGET });
    const [first, second] = [issue(), issue()];
    nowMs = first.expiresInMs - 1;
    expect(tickets.redeem(`${TARGET}&ticket=${first.ticket}`)).toBe('Bearer secret');
    nowMs = second.expiresInMs;
    expect(tickets.redeem(`${TARGET}&ticket=${second.ticket}`)).toBeUndefined();
  });

  it('is not what a URL without one has', () => {
    const { tickets } = issued();
    for (const url of ['/', TARGET, `${TARGET}&ticket=`, `${TARGET}&ticket=__proto__`, `${TARGET}&ticket=a&ticket=b`])
      expect(tickets.redeem(url)).toBeUndefined();
  });

  it('is not displaced by another client, which is refused with the limit when it has too many open', () => {
    let nowMs = 0;
    const tickets = new DownloadTickets(() => nowMs);
    const issue = (client: string) => tickets.issue({ client, authorization: client, target: TARGET }).ticket;
    const ann = issue('token:ann');
    const eves = Array.from({ length: 32 }, () => issue('token:eve'));
    for (let count = 0; count < 2000; count++)
      expect(() => issue('token:eve')).toThrow(
        expect.objectContaining({ code: 'RATE_LIMITED', message: expect.stringMatching(/^32 download tickets/) }),
      );
    expect(tickets.redeem(`${TARGET}&ticket=${ann}`)).toBe('token:ann');
    // One that was used, or has expired, makes room.
    tickets.redeem(`${TARGET}&ticket=${eves[0]}`);
    issue('token:eve');
    expect(() => issue('token:eve')).toThrow('32 download tickets');
    nowMs = 30_000;
    issue('token:eve');
  });

  it('is forgotten when there are too many of all clients', () => {
    const { tickets, url } = issued();
    for (let count = 0; count < 1000; count++)
      tickets.issue({ client: `token:${count}`, authorization: undefined, target: '/' });
    expect(tickets.redeem(url)).toBeUndefined();
  });
});
