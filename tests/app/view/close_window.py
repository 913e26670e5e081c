"""Asks a window to close, as the button of its frame does:  close_window.py ID  (a number of xdotool's)

Sends WM_DELETE_WINDOW of the Inter-Client Communication Conventions through libX11."""
import ctypes
import sys


class ClientMessage(ctypes.Structure):
    """XClientMessageEvent of Xlib.h, and room up to the size of XEvent."""
    _fields_ = [("type", ctypes.c_int), ("serial", ctypes.c_ulong), ("send_event", ctypes.c_int),
                ("display", ctypes.c_void_p), ("window", ctypes.c_ulong), ("message_type", ctypes.c_ulong),
                ("format", ctypes.c_int), ("data", ctypes.c_long * 5), ("room", ctypes.c_long * 24)]


x11 = ctypes.CDLL("libX11.so.6")
x11.XOpenDisplay.restype = ctypes.c_void_p
x11.XInternAtom.restype = ctypes.c_ulong
display = ctypes.c_void_p(x11.XOpenDisplay(None))
window = ctypes.c_ulong(int(sys.argv[1]))
message = ClientMessage(type=33, window=window.value, format=32,  # 33: ClientMessage
                        message_type=x11.XInternAtom(display, b"WM_PROTOCOLS", 0))
message.data[0] = x11.XInternAtom(display, b"WM_DELETE_WINDOW", 0)
x11.XSendEvent(display, window, 0, ctypes.c_long(0), ctypes.byref(message))
x11.XSync(display, 0)
