import { describe, expect, it } from 'vitest';
import { listReply } from '../../../src/platform/http/list-response.js';

describe('the reply of a list', () => {
  it('always has the collection and the next page token, empty on the last page', () => {
    expect(listReply({ key: 'assets', items: [], nextPageToken: '' })).toEqual({
      body: { assets: [], next_page_token: '' },
    });
  });

  it('tells the total when it is known', () => {
    expect(listReply({ key: 'a', items: [1], nextPageToken: 't', total: 7, limit: 10 })).toEqual({
      body: { a: [1], next_page_token: 't' },
      headers: { 'x-total-count': '7' },
    });
  });

  it('is partial content when more match than the limit', () => {
    expect(listReply({ key: 'a', items: [1], nextPageToken: 't', total: 11, limit: 10 })).toMatchObject({
      status: 206,
      headers: { 'x-total-count': '11', 'content-range': 'items 0-10/11' },
    });
  });

  it('is partial content when counting ended before the list', () => {
    expect(listReply({ key: 'a', items: [1], nextPageToken: 't', total: 7, cut: true, limit: 10 })).toMatchObject({
      status: 206,
      headers: { 'x-total-count': '7', 'content-range': 'items 0-7/7' },
    });
  });
});
