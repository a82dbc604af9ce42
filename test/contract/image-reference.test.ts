import fc from 'fast-check'
import { isImageReference, MAX_IMAGE_LENGTH } from '../../src/contract/image-reference.ts'
import { computesForMs } from '../support/time.ts'
import { describe, expect, it } from '../support/unit.ts'

const DIGEST = `sha256:${'a'.repeat(64)}`

const GOOD = [
  'nginx',
  'nginx:1.27',
  `nginx@${DIGEST}`,
  `nginx:1.27@${DIGEST}`,
  `a@sha512:${'0'.repeat(128)}`,
  'docker.io/library/nginx:1.27',
  'localhost:5000/a/b',
  '127.0.0.1:1/no/such:image',
  '[::1]:5000/a',
  'Registry.example.com/a__b/c-d.e',
  'a--b',
  'i:_A.b-C',
  'builtin/echo',
  'a'.repeat(255),
  `${'a'.repeat(255)}:${'t'.repeat(128)}@sha512:${'0'.repeat(128)}`,
]

const BAD = [
  '',
  ' ',
  'a b',
  'a\nb',
  'nginx\n',
  'a/../b',
  'a/../../b',
  '../a',
  'a/..',
  './a',
  'a//b',
  '/a',
  'a/',
  'a..b',
  'a___b',
  'https://docker.io/library/nginx',
  'http://x/a',
  'file:///etc/passwd',
  'secbox:1/../../containers/json',
  'get?names=secbig:1&x=',
  'a?x=1',
  'a#b',
  'a%2fb',
  'a\\b',
  'Nginx',
  'nginx:',
  `nginx:${'t'.repeat(129)}`,
  'nginx:.1',
  'nginx@',
  'nginx@sha256:12',
  `nginx@md5:${'a'.repeat(32)}`,
  `nginx@sha256:${'A'.repeat(64)}`,
  'user:password@registry.example.com/a',
  '-a',
  'a-',
  'ä',
  'a\u0000',
  'a'.repeat(256),
  'b'.repeat(64),
]

describe('[CON-20] image references', () => {
  it.each(GOOD)('takes %s', (text) => expect(isImageReference(text)).toBe(true))
  it.each(BAD)('refuses %j', (text) => expect(isImageReference(text)).toBe(false))

  it('every accepted reference is short and can be part of a URL path unescaped', () => {
    const piece = fc.constantFrom(
      'a',
      'B',
      '0',
      '.',
      '..',
      '/',
      '//',
      ':',
      '@',
      '?',
      '#',
      '%2f',
      '\\',
      ' ',
      '-',
      '_',
      '[',
      ']',
      DIGEST,
      '\n',
    )
    const text = fc.oneof(
      fc.string({ maxLength: 20 }),
      fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join('')),
    )
    fc.assert(
      fc.property(text, (image) => {
        if (!isImageReference(image)) return
        expect(new URL(`http://engine/images/${image}/json`).pathname).toBe(`/images/${image}/json`)
        expect(image.length).toBeLessThanOrEqual(MAX_IMAGE_LENGTH)
      }),
      { numRuns: 5_000 },
    )
  })

  it('answers long texts at once', () => {
    const texts = ['a-'.repeat(5_000_000), 'a'.repeat(10_000_000), `${'a.'.repeat(130)}!`, `${'a_'.repeat(250)}/`]
    expect(computesForMs(() => texts.map(isImageReference))).toBeLessThan(1_000)
  })
})
