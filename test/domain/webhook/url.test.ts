import { describe, expect, test } from 'vitest'
import { parseIp } from '../../../src/domain/webhook/ip-address.ts'
import { MAX_WEBHOOK_URL_CHARS, mayConnect, parseAllowList, refuseWebhookUrl } from '../../../src/domain/webhook/url.ts'

const NONE = parseAllowList('')
const LOCAL = parseAllowList('localhost, 127.0.0.0/8, ::1/128')

const NOT_PUBLIC = 'the host is private, loopback, link-local or reserved; want a public one'
const NOT_HTTPS = 'want an https URL'
const NO_URL = 'want an absolute https URL'
const WITH_USER = 'a user name or password in the URL is not allowed'

describe('refused', () => {
  test.each([
    // Loopback, in every spelling that a URL parser folds into it.
    'https://127.0.0.1/',
    'https://127.0.0.1:8443/hook',
    'https://127.1/',
    'https://127.0.1/',
    'https://127.255.255.255/',
    'https://2130706433/',
    'https://0x7f000001/',
    'https://0x7f.1/',
    'https://0x7F.0x0.0x0.0x1/',
    'https://0177.0.0.1/',
    'https://017700000001/',
    'https://127.0.0.1./',
    'https://%31%32%37.0.0.1/',
    'https://１２７.０.０.１/',
    'https://127。0。0。1/',
    'https://①②⑦.0.0.1/',
    'https://localhost/',
    'https://LOCALHOST/',
    'https://localhost./',
    'https://localhost../',
    'https://127.0.0.1../',
    'https://169.254.169.254..../',
    'https://a..example.com/',
    'https://.example.com/',
    'https://api.localhost/',
    'https://ⓛocalhost/',
    'https://localhost.localdomain/',
    // This host, and private networks up to their edges.
    'https://0/',
    'https://0.0.0.0/',
    'https://0.255.255.255/',
    'https://10.0.0.0/',
    'https://10.255.255.255/',
    'https://0xa000001/',
    'https://012.1.2.3/',
    'https://172.16.0.0/',
    'https://172.31.255.255/',
    'https://192.168.0.0/',
    'https://192.168.255.255/',
    'https://100.64.0.0/',
    'https://100.127.255.255/',
    // Link-local and metadata services.
    'https://169.254.0.0/',
    'https://169.254.169.254/latest/meta-data',
    'https://169.254.170.2/v2/credentials',
    'https://2852039166/',
    'https://0xA9FEA9FE/',
    'https://100.100.100.200/latest/meta-data',
    'https://192.0.0.192/',
    'https://168.63.129.16/',
    'https://metadata.google.internal/computeMetadata/v1/',
    'https://metadata/',
    'https://instance-data/',
    'https://instance-data.ec2.internal/',
    // Reserved, documentation, benchmarking, multicast, broadcast.
    'https://192.0.2.1/',
    'https://192.88.99.1/',
    'https://198.18.0.0/',
    'https://198.19.255.255/',
    'https://198.51.100.1/',
    'https://203.0.113.1/',
    'https://224.0.0.1/',
    'https://239.255.255.255/',
    'https://240.0.0.0/',
    'https://255.255.255.255/',
    // IPv6.
    'https://[::]/',
    'https://[::1]/',
    'https://[0:0:0:0:0:0:0:1]/',
    'https://[::0.0.0.1]/',
    'https://[::127.0.0.1]/',
    'https://[::ffff:127.0.0.1]/',
    'https://[::ffff:7f00:1]/',
    'https://[::ffff:10.0.0.1]/',
    'https://[::ffff:8.8.8.8]/',
    'https://[fe80::1]/',
    'https://[febf::1]/',
    'https://[fec0::1]/',
    'https://[fc00::1]/',
    'https://[fd00:ec2::254]/',
    'https://[ff02::1]/',
    'https://[100::1]/',
    'https://[64:ff9b::7f00:1]/',
    'https://[64:ff9b:1::a00:1]/',
    'https://[2001::1]/',
    'https://[2001:1ff:ffff::1]/',
    'https://[2001:db8::1]/',
    'https://[2002:7f00:1::]/',
    'https://[2002:a00:1::1]/',
    'https://[3fff:fff:ffff::1]/',
    'https://[1fff:ffff::1]/',
    'https://[4000::1]/',
    'https://[5f00::1]/',
    // Names that stand for addresses, or that only a private network answers.
    'https://127.0.0.1.nip.io/',
    'https://10-0-0-1.nip.io/',
    'https://7f000001.nip.io/',
    'https://169.254.169.254.nip.io./',
    'https://www.192-168-0-1.sslip.io/',
    'https://10.0.0.1.xip.io/',
    'https://localtest.me/',
    'https://any.lvh.me/',
    'https://printer.local/',
    'https://wiki.corp/',
    'https://nas.home.arpa/',
    'https://1.0.0.127.in-addr.arpa/',
    'https://router.lan/',
    'https://api.test/',
    'https://abc.onion/',
    'https://kubernetes.default.svc.cluster.local/',
    'https://intranet/',
  ])('[HOOK-7] %s', (url) => {
    expect(refuseWebhookUrl(url, NONE)).toBe(NOT_PUBLIC)
  })

  test.each([
    ['http://example.com/', NOT_HTTPS],
    ['http://127.0.0.1/', NOT_HTTPS],
    ['ftp://example.com/', NOT_HTTPS],
    ['file:///etc/passwd', NOT_HTTPS],
    ['gopher://example.com/', NOT_HTTPS],
    ['javascript:alert(1)', NOT_HTTPS],
    ['data:text/plain,x', NOT_HTTPS],
    ['ws://example.com/', NOT_HTTPS],
    ['https://user@example.com/', WITH_USER],
    ['https://user:password@example.com/', WITH_USER],
    ['https://:password@example.com/', WITH_USER],
    ['https://example.com@10.0.0.1/', WITH_USER],
    ['', NO_URL],
    ['example.com/hook', NO_URL],
    ['//example.com/hook', NO_URL],
    ['/hook', NO_URL],
    ['https://', NO_URL],
    ['https:///', NO_URL],
    ['https://exa mple.com/', NO_URL],
    ['https://example.com:99999/', NO_URL],
    ['https://[::1/', NO_URL],
    ['https://[fe80::1%25eth0]/', NO_URL],
    ['https://256.256.256.256/', NO_URL],
    ['https://1.2.3.4.5/', NO_URL],
    [' https://example.com/', NO_URL],
    ['https://example.com/\n', NO_URL],
    ['ht\ttps://example.com/', NO_URL],
    ['https://example.com/\u0000', NO_URL],
    ['https://example.com/\u007f', NO_URL],
  ])('[HOOK-7] %j: %s', (url, problem) => {
    expect(refuseWebhookUrl(url, NONE)).toBe(problem)
  })
})

describe('accepted', () => {
  test.each([
    'https://example.com/',
    'https://example.com',
    'HTTPS://EXAMPLE.COM/Hook',
    'https://example.com:8443/hook?token=a%20b#x',
    'https://hooks.example.co.uk./a/b',
    'https://münchen.example.com/ü',
    'https://localhost.example.com/',
    'https://my-local.dev/',
    'https://internal.example.com/',
    'https://test.dev/',
    'https://8.8.8.8/',
    'https://9.255.255.255/',
    'https://11.0.0.0/',
    'https://100.63.255.255/',
    'https://100.128.0.0/',
    'https://126.255.255.255/',
    'https://128.0.0.0/',
    'https://169.253.255.255/',
    'https://169.255.0.0/',
    'https://172.15.255.255/',
    'https://172.32.0.0/',
    'https://192.167.255.255/',
    'https://192.169.0.0/',
    'https://198.17.255.255/',
    'https://198.20.0.0/',
    'https://223.255.255.255/',
    'https://[2000::1]/',
    'https://[2001:200::1]/',
    'https://[2001:db9::1]/',
    'https://[2003::1]/',
    'https://[2606:4700:4700::1111]/',
    'https://[3ffe:ffff::1]/',
    'https://[3fff:1000::1]/',
  ])('[HOOK-7] %s', (url) => {
    expect(refuseWebhookUrl(url, NONE)).toBeNull()
  })

  test('[HOOK-7] a URL of the greatest length, and not one character more', () => {
    const url = (length: number) => 'https://example.com/'.padEnd(length, 'a')
    expect(refuseWebhookUrl(url(MAX_WEBHOOK_URL_CHARS), NONE)).toBeNull()
    expect(refuseWebhookUrl(url(MAX_WEBHOOK_URL_CHARS + 1), NONE)).toBe('must have at most 2048 characters')
  })
})

describe('the allow list', () => {
  test.each([
    'http://localhost:8080/hook',
    'http://LOCALHOST./hook',
    'https://localhost/',
    'http://127.0.0.1:9000/',
    'http://127.255.255.255/',
    'http://2130706433/',
    'http://[::1]:9000/',
  ])('[HOOK-7] lifts the refusal of listed addresses, over http too: %s', (url) => {
    expect(refuseWebhookUrl(url, LOCAL)).toBeNull()
  })

  test.each([
    ['http://example.com/', NOT_HTTPS],
    ['http://api.localhost/', NOT_HTTPS],
    ['https://10.0.0.1/', NOT_PUBLIC],
    ['https://126.255.255.255.nip.io/', NOT_PUBLIC],
    ['https://[::2]/', NOT_PUBLIC],
    ['https://[::ffff:127.0.0.1]/', NOT_PUBLIC],
    ['http://user@localhost/', WITH_USER],
    ['ftp://localhost/', NOT_HTTPS],
  ])('[HOOK-7] and of nothing else: %s', (url, problem) => {
    expect(refuseWebhookUrl(url, LOCAL)).toBe(problem)
  })

  test('[HOOK-7] an unreadable item allows nothing', () => {
    const allow = parseAllowList('10.0.0.0/33, 10.0.0.0/-1, 10.0.0.0/8/8, 10.0.0.0/x, /8, *, *.internal, https://10.0.0.1, ,2001:db8::/129')
    expect(allow.ranges).toEqual([])
    for (const url of ['https://10.0.0.1/', 'https://a.internal/', 'https://[2001:db8::1]/'])
      expect(refuseWebhookUrl(url, allow)).toBe(NOT_PUBLIC)
  })

  test('[HOOK-7] takes single addresses, both families and names, in any case', () => {
    const allow = parseAllowList(' 10.1.2.3 ,FD00::/8,[::1],Hooks.Corp.Internal. ')
    for (const host of ['10.1.2.3', '[fdff::1]', '[::1]', 'hooks.corp.internal'])
      expect(refuseWebhookUrl(`http://${host}/`, allow)).toBeNull()
    for (const host of ['10.1.2.4', '[fe00::1]', 'x.hooks.corp.internal'])
      expect(refuseWebhookUrl(`https://${host}/`, allow)).toBe(NOT_PUBLIC)
  })

  test.each([
    ['example.com', '93.184.215.14', true],
    ['example.com', '10.0.0.1', false],
    ['example.com', '127.0.0.1', false],
    ['example.com', '::1', false],
    ['example.com', '::ffff:10.0.0.1', false],
    ['example.com', '10.9.0.1', true],
    ['hooks.corp.internal', '192.168.1.1', true],
    ['hooks.corp.internal.', '192.168.1.1', true],
  ])('[HOOK-7] %s that resolves to %s may be connected: %s', (host, address, may) => {
    const allow = parseAllowList('hooks.corp.internal, 10.9.0.0/16')
    const parsed = parseIp(address)
    expect(parsed && mayConnect(host, parsed, allow)).toBe(may)
  })
})

test.each(['', 'x', '1.2.3', '1.2.3.4.5', '0x7f.1', '300.1.1.1', '::g', ':::', '1::2::3', 'fe80::1%eth0', '10.0.0.1/8'])(
  '%j is no address',
  (text) => {
    expect(parseIp(text)).toBeNull()
  },
)
