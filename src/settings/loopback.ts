/** 127.0.0.0/8, ::1 and localhost: what only this machine reaches. */
export const isLoopback = (host: string): boolean =>
  /^127(\.\d{1,3}){3}$/.test(host) || host === '::1' || host === '[::1]' || host.toLowerCase() === 'localhost';
