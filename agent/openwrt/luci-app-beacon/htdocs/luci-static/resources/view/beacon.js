'use strict';
'require form';
'require fs';
'require poll';
'require ui';
'require uci';
'require view';

const agent = '/usr/sbin/beacon-agent';
const isAddress = /^https?:\/\/[^\s\/]/;
const isCode = /^[0-9A-Za-z -]{1,32}$/;

/** Runs a command of the agent. It says what it did on either output. */
async function run(...words) {
	const result = await fs.exec(agent, words);
	return { good: result.code === 0, text: [result.stdout, result.stderr].filter(Boolean).join('').trim() };
}

/** Shows what the agent said about a button that was pressed. */
function tell({ good, text }) {
	ui.addNotification(null, E('p', { style: 'white-space: pre-wrap' }, text), good ? 'info' : 'danger');
}

return view.extend({
	load: () => Promise.all([run('status'), uci.load('beacon')]),

	render([first]) {
		const shown = E('pre', { id: 'beacon-status', role: 'status' }, first.text);
		const refresh = async () => {
			shown.textContent = (await run('status')).text;
		};
		poll.add(refresh, 10);

		const map = new form.Map('beacon', _('Beacon'), _('Keeps a hotspot of this device online in a Beacon network.'));
		const section = map.section(form.NamedSection, 'agent', 'beacon');

		const url = section.option(form.Value, 'url', _('Server'), _('Its address, as you have it from the network.'));
		url.placeholder = 'https://beacon.example.org';
		url.rmempty = false;
		url.validate = (_id, value) => isAddress.test(value) || _('This is not an address: it begins with https://');

		const key = section.option(
			form.Value, 'enrol_key', _('Enrolment key'),
			_('A key for many devices. It is used once, and then removed. With a link code, leave it empty.'),
		);
		key.password = true;
		key.datatype = 'maxlength(200)';

		const ssid = section.option(form.DynamicList, 'ssid', _('Networks'), _('Count only these SSIDs. Without any, all networks of this device count.'));
		ssid.datatype = 'maxlength(32)';

		const mac = section.option(form.Value, 'mac', _('MAC address'), _('The one that the hotspot is registered with, if it is not that of the first Wi-Fi interface.'));
		mac.datatype = 'macaddr';

		const code = E('input', { class: 'cbi-input-text', id: 'beacon-code', autocomplete: 'off', placeholder: 'K7Q2-M4XD' });
		const press = (action) =>
			ui.createHandlerFn(this, async () => {
				tell(await action());
				await refresh();
			});

		const link = () => {
			const text = code.value.trim();
			if (!isCode.test(text)) return { good: false, text: _('Type the link code that the console shows.') };
			code.value = '';
			return run('link', text);
		};

		return map.render().then((rendered) => [
			rendered,
			E('div', { class: 'cbi-section' }, [
				E('h3', _('Link')),
				E('p', _('Save and apply the server first. A link code is on the page of the hotspot in the console, and is valid for 15 minutes.')),
				E('label', { for: 'beacon-code' }, _('Link code')),
				' ',
				code,
				' ',
				E('button', { class: 'btn cbi-button-action', click: press(link) }, _('Link')),
				' ',
				E('button', { class: 'btn', click: press(() => run('enrol')) }, _('Enrol now')),
				' ',
				E('button', { class: 'btn cbi-button-negative', click: press(() => run('unlink')) }, _('Unlink')),
			]),
			E('div', { class: 'cbi-section' }, [E('h3', _('Status')), shown]),
		]);
	},
});
