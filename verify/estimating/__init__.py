"""Constants by sampling and attack: values that a problem attains, each with the point where."""
