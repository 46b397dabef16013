import assert from 'node:assert/strict';
import { test } from 'node:test';
import { applyDiscount, parsePrice, receiptTotal, splitBill } from './till.js';

test('a price is read to the cent', () => assert.equal(parsePrice('12.5'), 1250));
test('a discount in percent is a share', () => assert.equal(applyDiscount(1000, '10%'), 900));
test('a discount in cents is taken off', () => assert.equal(applyDiscount(1000, 250), 750));
test('the shares of a bill add up', () => assert.deepEqual(splitBill(1000, 3), [334, 333, 333]));
test('a receipt adds its prices', () => assert.equal(receiptTotal(['4.00', '6.00']), 1000));
test('a receipt takes its discount off', () => assert.equal(receiptTotal(['4.00', '6.00'], 250), 750));
