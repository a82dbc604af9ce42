/**
 * IPv4 ranges that are not public: private and link-local ranges, metadata services (169.254.169.254, 100.100.100.200, 192.0.0.192),
 * multicast, and the address of a cloud's host agent (168.63.129.16).
 */
export const NOT_PUBLIC = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '224.0.0.0/3',
] as const
