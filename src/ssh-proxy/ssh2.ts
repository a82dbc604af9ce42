import ssh2 from 'ssh2'

// A CommonJS package whose named exports Node does not detect.
export const { Server, utils } = ssh2
