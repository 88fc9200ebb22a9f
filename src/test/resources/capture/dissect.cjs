// Prints what Wireshark shows of a capture: node dissect.cjs FOLDER_OF_MODULES FILE PORTS
const fs = require('fs');
const path = require('path');
const [modules, file, ports] = process.argv.slice(2);
const dist = path.resolve(modules, '@goodtools/wiregasm/dist');

function show(nodes, depth) {
  for (let i = 0; i < nodes.size(); i++) {
    console.log(' '.repeat(depth) + nodes.get(i).label);
    show(nodes.get(i).tree, depth + 1);
  }
}

(async () => {
  const load = require(path.join(dist, 'wiregasm.js'));
  const wireshark = await load({ locateFile: name => path.join(dist, name), print() {}, printErr() {} });
  wireshark.init();
  wireshark.setPref('zmtp', 'tcp.port', ports);
  wireshark.applyPreferences();
  wireshark.FS.writeFile('/uploads/f.pcapng', fs.readFileSync(file));
  const session = new wireshark.DissectSession('/uploads/f.pcapng');
  const loaded = session.load();
  for (let i = 1; i <= loaded.summary.packet_count; i++) {
    show(session.getFrame(i).tree, 0);
  }
})();
